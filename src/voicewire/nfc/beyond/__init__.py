"""What goes beyond the paper: the Ethernet behind the link, lwIP, checksums."""
