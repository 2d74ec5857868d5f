package main

import (
	"context"
	_ "embed"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
)

const completionHelp = `Print a script that completes commands, flags, and the keys of flags, segments, namespaces
and contexts, which it asks the server for. The help of each shell says how to install it.`

const bashHelp = `Print the completion script for bash, 4.4 or later. It needs no other package.

The example is for one shell. For all shells of yours, from the next one on:

  mkdir -p ~/.local/share/bash-completion/completions
  guidon completion bash > ~/.local/share/bash-completion/completions/guidon

if the package bash-completion is installed; otherwise:

  echo 'source <(guidon completion bash)' >> ~/.bashrc`

const zshHelp = `Print the completion script for zsh.

The example is for one shell. For all shells of yours, from the next one on:

  mkdir -p ~/.zfunc
  guidon completion zsh > ~/.zfunc/_guidon

with these lines in ~/.zshrc, if they are not there yet:

  fpath=(~/.zfunc $fpath)
  autoload -U compinit && compinit`

const fishHelp = `Print the completion script for fish.

The example is for one shell. For all shells of yours, from the next one on:

  mkdir -p ~/.config/fish/completions
  guidon completion fish > ~/.config/fish/completions/guidon.fish`

const powershellHelp = `Print the completion script for PowerShell.

The example is for one shell. For all shells of yours, add its line to the file that $PROFILE names.`

// bashFunctions are the functions of the package bash-completion that the script for bash
// needs.
//
//go:embed completion.bash
var bashFunctions string

func completionCommand(p *cli.Program, root *cobra.Command) *cobra.Command {
	shell := func(name, help, example string, write func(out io.Writer) error) *cobra.Command {
		return p.Command(cli.Verb{
			Use: name, Short: "Print the completion script for " + name, Long: help, Example: "  " + example, Args: cli.Arguments,
			Options: func(command *cobra.Command) { command.DisableFlagsInUseLine = true },
			Run:     func(context.Context, []string) error { return write(p.Out) },
		})
	}
	return cli.Group("completion", "Print a completion script for a shell", completionHelp,
		shell("bash", bashHelp, "source <(guidon completion bash)", func(out io.Writer) error {
			if _, err := fmt.Fprintln(out, bashFunctions); err != nil {
				return err
			}
			return root.GenBashCompletionV2(out, true)
		}),
		shell("zsh", zshHelp, "source <(guidon completion zsh)", root.GenZshCompletion),
		shell("fish", fishHelp, "guidon completion fish | source",
			func(out io.Writer) error { return root.GenFishCompletion(out, true) }),
		shell("powershell", powershellHelp, "guidon completion powershell | Out-String | Invoke-Expression",
			root.GenPowerShellCompletionWithDesc),
	)
}
