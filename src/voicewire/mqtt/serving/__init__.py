"""Sockets and processes of a broker, and the limits that it keeps."""
