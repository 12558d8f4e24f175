"""Run the command line with `python -m planproof`."""

from planproof.cli import main

if __name__ == "__main__":
    main()
