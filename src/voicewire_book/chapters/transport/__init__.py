"""What the notebooks on TCP and MQTT on the wire call."""
