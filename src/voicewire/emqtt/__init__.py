"""E-MQTT (Im and Lim 2023): a publisher learns when its message has arrived. Messages, bytes and delays, measured."""
