from paretognn.cli.main import main

main()
