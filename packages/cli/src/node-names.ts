import { type Command, Option } from 'commander'

/** The node is `--url` in every command; `--node`, as some of them called it first, goes on working. */
export function acceptBothNames(command: Command): void {
  const [node, url] = ['--node', '--url'].map((flag) => command.options.find(({ long }) => long === flag))
  const known = node ?? url
  if (!known || (node && url)) return
  const other = new Option(known === node ? '--url <origin>' : '--node <origin>', known.description)
  if (known === node) {
    node.hideHelp()
    other.default(node.defaultValue)
  } else other.hideHelp()
  command.addOption(other)
  const [from, to] = [other.attributeName(), known.attributeName()]
  command.hook('preAction', (_, action) => {
    if (action.getOptionValueSource(from) === 'cli')
      action.setOptionValueWithSource(to, action.getOptionValue(from), 'cli')
  })
}
