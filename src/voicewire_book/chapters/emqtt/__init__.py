"""What the notebooks on E-MQTT call."""
