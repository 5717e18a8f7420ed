import { declareValuePlugin, PluginKind } from '@stryker-mutator/api/plugin'

const textOf = (node) => {
  if (node.type === 'StringLiteral') return node.value
  if (node.type === 'TemplateLiteral') return node.quasis.map(({ value }) => value.raw).join('')
  return undefined
}

/**
 * Text with a blank in it is a sentence for people or a statement for the database. To empty the first says nothing about
 * money, and the second fails at once and would only raise the rate; codes, names and formats have no blank and stay in.
 */
const prose = {
  shouldIgnore(path) {
    if (path.parent?.type === 'ImportDeclaration') return undefined
    return textOf(path.node)?.includes(' ') ? 'a sentence or a statement' : undefined
  },
}

export const strykerPlugins = [declareValuePlugin(PluginKind.Ignore, 'prose', prose)]
