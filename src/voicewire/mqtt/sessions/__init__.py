"""What a broker keeps for a client: session, messages in flight, holds, files."""
