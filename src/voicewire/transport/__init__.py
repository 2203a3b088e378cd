"""TCP against MQTT on the wire, with cipher objects as payload: the study behind ``notebooks/transport``."""
