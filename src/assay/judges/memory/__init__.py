"""What judges have answered before: exact bytes of asks and answers, and where they are kept."""
