"""The spellers of the paper, each in its own file, composed of shared parts."""
