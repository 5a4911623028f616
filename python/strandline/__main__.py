"""`python -m strandline` and the console script."""

from strandline.cli.main import main

if __name__ == "__main__":
    main()
