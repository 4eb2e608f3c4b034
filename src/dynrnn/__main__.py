"""`python -m dynrnn`: the command line of `dynrnn.cli`."""

from dynrnn.cli import main

if __name__ == "__main__":
    main()
