export type CommandWords = { path: readonly string[]; words: readonly string[] }

/** The shells that are served, and how each is taught. */
export const shells = {
  bash: '  assay completion bash > ~/.local/share/bash-completion/completions/assay',
  zsh: '  assay completion zsh > ~/.zfunc/_assay   (with ~/.zfunc in fpath)',
  fish: '  assay completion fish > ~/.config/fish/completions/assay.fish',
} as const

export function writeCompletion(shell: keyof typeof shells, commands: readonly CommandWords[]): string {
  return { bash, zsh, fish }[shell](commands)
}

/** The words typed so far that are no options are the path of the command, as long as such a command exists. */
const findCommand = `  local at='' word
  for word in "\${typed[@]}"; do
    case "$word" in -*) continue ;; esac
    case " $known " in *" \${at:+$at/}$word "*) at="\${at:+$at/}$word" ;; *) break ;; esac
  done`

const knownPaths = (commands: readonly CommandWords[]) =>
  commands.flatMap(({ path }) => (path.length === 0 ? [] : [path.join('/')])).join(' ')

const chooseWords = (commands: readonly CommandWords[]) => `  local next=''
  case "$at" in
${commands.map(({ path, words }) => `    '${path.join('/')}') next='${words.join(' ')}' ;;`).join('\n')}
  esac`

function bash(commands: readonly CommandWords[]): string {
  return `_assay() {
  local known='${knownPaths(commands)}'
  local typed=("\${COMP_WORDS[@]:1:COMP_CWORD-1}")
${findCommand}
${chooseWords(commands)}
  COMPREPLY=($(compgen -W "$next" -- "\${COMP_WORDS[COMP_CWORD]}"))
  [ \${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _assay assay`
}

function zsh(commands: readonly CommandWords[]): string {
  return `#compdef assay
_assay() {
  local known='${knownPaths(commands)}'
  local -a typed=("\${(@)words[2,CURRENT-1]}")
${findCommand}
${chooseWords(commands)}
  compadd -- \${=next} || _files
}
_assay "$@"`
}

/** Options and files are offered side by side; where a command must follow, files are not. */
function fish(commands: readonly CommandWords[]): string {
  const lines = commands.map(({ path, words }) => {
    const isGroup = commands.some(
      (other) => other.path.length > path.length && path.every((w, n) => other.path[n] === w),
    )
    return `complete -c assay -n '__assay_at ${['.', ...path].join('/')}' ${isGroup ? '-f ' : ''}-a '${words.join(' ')}'`
  })
  return `function __assay_at
  set -l known ${knownPaths(commands)}
  set -l at
  for word in (commandline -opc)[2..]
    string match -q -- '-*' $word; and continue
    contains -- (string join / -- $at $word) $known; or break
    set -a at $word
  end
  test "$argv[1]" = (string join / -- . $at)
end
${lines.join('\n')}`
}
