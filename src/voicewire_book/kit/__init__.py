"""What every notebook imports: claims, figures, sliders, players of sound, exercises."""
