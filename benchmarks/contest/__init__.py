"""Seeker and its peers in one contest: the same vectors, the same likes and dislikes."""
