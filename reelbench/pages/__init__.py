"""What draws: the shell of our pages, their styles and scripts, charts and pictures; it knows no benchmark."""
