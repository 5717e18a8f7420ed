import { CliError, exitCodes } from './exit-codes.ts'

export type Node = typeof import('@assay/node')

/** Commands for operators need the node, which buyers do not install. */
export const loadNode = (): Promise<Node> => import('@assay/node').catch(explainMissing)

/** For imports of the other entry points of the node: `@assay/node/shops/<name>` brings what commands use of a shop. */
export function explainMissing(cause: unknown): never {
  const { code, message } = cause as NodeJS.ErrnoException
  if (code !== 'ERR_MODULE_NOT_FOUND' || !/package '@assay\/node'/.test(message)) throw cause
  throw new CliError(exitCodes.usage, 'node_not_installed', 'this command needs the package @assay/node', {
    hint: 'Install it beside this command: npm install @assay/node, or npm install --global @assay/cli @assay/node.',
    cause,
  })
}
