"""X-ray films: pictures, sound, contours and what is measured on them."""
