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

const cases = (commands: readonly CommandWords[]) =>
  commands.map(({ path, words }) => `    '${path.join(' ')}') words='${words.join(' ')}' ;;`).join('\n')

/** The words typed so far that are no options are the path of the command, as long as such a command exists. */
const findPath = `  local path='' word
  for word in "\${typed[@]}"; do
    case "$word" in -*) continue ;; esac
    case " $known " in *" \${path:+$path/}$word "*) path="\${path:+$path/}$word" ;; *) break ;; esac
  done`

const knownPaths = (commands: readonly CommandWords[]) =>
  commands.flatMap(({ path }) => (path.length === 0 ? [] : [path.join('/')])).join(' ')

const chooseWords = (commands: readonly CommandWords[]) => `  local words=''
  case "\${path//\\// }" in
${cases(commands)}
  esac`

function bash(commands: readonly CommandWords[]): string {
  return `_assay() {
  local known='${knownPaths(commands)}'
  local typed=("\${COMP_WORDS[@]:1:COMP_CWORD-1}")
${findPath}
${chooseWords(commands)}
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
  [ \${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _assay assay`
}

function zsh(commands: readonly CommandWords[]): string {
  return `#compdef assay
_assay() {
  emulate -L sh
  local known='${knownPaths(commands)}'
  local typed=()
  [ "$CURRENT" -gt 2 ] && typed=("\${words[@]:1:CURRENT-2}")
  local current="\${words[CURRENT]}"
${findPath}
${chooseWords(commands).replace("local words=''", "words=''")}
  emulate -L zsh
  compadd -- \${=words} || _files
}
_assay "$@"`
}

function fish(commands: readonly CommandWords[]): string {
  const lines = commands.map(({ path, words }) => {
    const here = path.map((word) => `__fish_seen_subcommand_from ${word}`)
    const below = commands
      .filter((other) => other.path.length === path.length + 1 && path.every((word, n) => other.path[n] === word))
      .map((other) => other.path.at(-1))
    const notBelow = below.length === 0 ? [] : [`not __fish_seen_subcommand_from ${below.join(' ')}`]
    const when = [...here, ...notBelow].join('; and ')
    return `complete -c assay ${when === '' ? '' : `-n '${when}' `}-a '${words.join(' ')}'`
  })
  return ['complete -c assay -f', ...lines].join('\n')
}
