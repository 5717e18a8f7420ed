import type { AddCommand } from '../command-context.ts'
import { nodeOption } from '../find-node.ts'
import type { McpOptions } from './run-mcp.ts'

export const addMcp: AddCommand = (program, context) => {
  program
    .command('mcp')
    .summary('Serve MCP over standard input and output')
    .description(
      'A Model Context Protocol server for programs that start their servers themselves. Free tools work at once; with a\n' +
        'wallet paid ones are bought too, each checked against its signature, never for more than the two maximums.',
    )
    .option(...nodeOption)
    .option('--demo', 'pay with the buyer wallet of a demo node on this machine')
    .option('--key-file <path>', 'file with the private key of the wallet that pays')
    .option('--key-env <name>', 'environment variable with that key')
    .option('--mandate <id>', 'pay only from the credit of this mandate’s owner, within its limits')
    .option('--max-amount <usd>', 'maximum price of one call', '0.05')
    .option('--max-total <usd>', 'maximum total of all calls', '1')
    .addHelpText('after', example)
    .action(async (options: McpOptions) => {
      const { runMcp } = await import('./run-mcp.ts')
      await runMcp(context, options)
    })
}

const example = `
Without a key only free tools answer, and paid ones say their price. Standard output belongs to the protocol.

Example, in the settings of a program that speaks MCP:
  { "command": "npx", "args": ["assay", "mcp", "--url", "http://127.0.0.1:4020", "--demo"] }`
