import { type AddCommand, jsonOption } from '../command-context.ts'
import { nodeUrl } from '../commerce/node-url.ts'
import { nodeOption } from '../find-node.ts'
import type { CapabilitiesOptions, ResolveOptions, SearchOptions } from './run-identity.ts'

/** Who agents are: DIDs, ratings, and what they say they can do. */
export const addIdentity: AddCommand = (program, context) => {
  const did = program.command('did').summary('Resolve DIDs of agents')
  did
    .command('resolve')
    .description('Print keys, services, credit rating, capabilities and payment authorizations; verify signatures')
    .argument('<did>', 'such as did:x402:0x…, did:pkh:eip155:8453:0x… or did:web:api.example.org')
    .option('--version-id <number>', 'the document of an earlier version')
    .option(...nodeOption)
    .option(...jsonOption)
    .action(async (text: string, options: ResolveOptions & { url: string }) => {
      const { runResolve } = await import('./run-identity.ts')
      await runResolve(context, nodeUrl(options.url), text, options)
    })
  const agent = program.command('agent').summary('Search agents and declare capabilities')
  agent
    .command('search')
    .description('List agents by capability, best rated first')
    .argument('[capability]', 'such as citation.search; citation finds all that begin with it')
    .option('--service <type>', 'x402, agent_card, mcp, a2a or web')
    .option('--score-min <number>', 'minimum credit score, 0 to 100')
    .option('--limit <number>', 'at most 100', '20')
    .option('--cursor <text>', 'cursor of the next page')
    .option(...nodeOption)
    .option(...jsonOption)
    .action(async (capability: string | undefined, options: SearchOptions & { url: string }) => {
      const { runSearch } = await import('./run-identity.ts')
      await runSearch(context, nodeUrl(options.url), capability, options)
    })
  agent
    .command('capabilities')
    .description(
      'Show the capabilities of a wallet’s agent, or declare them with --file or names, signed by the wallet',
    )
    .argument('[capability...]', 'names to declare; without names the present ones are shown')
    .option('--did <did>', 'DID; default: that of the wallet')
    .option('--name <text>', 'name of the agent')
    .option('--file <path>', 'JSON with name, description, capabilities, services and erc8004')
    .option('--revoke', 'revoke everything that was declared')
    .option('--demo', 'use the demo wallet of a demo node on this machine')
    .option('--key-file <path>', 'file with the private key of the wallet')
    .option('--key-env <name>', 'environment variable with that key; default: ASSAY_KEY')
    .option(...nodeOption)
    .option(...jsonOption)
    .addHelpText('after', '\nExample:\n  assay agent capabilities citation.search --name "My agent" --demo')
    .action(async (capabilities: string[], options: CapabilitiesOptions & { url: string }) => {
      const { runCapabilities } = await import('./run-identity.ts')
      await runCapabilities(context, nodeUrl(options.url), capabilities, options)
    })
}
