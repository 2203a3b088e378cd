"""What `voicewire pub` and `voicewire sub` do: their options, their client, what they show."""
