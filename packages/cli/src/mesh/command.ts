import { networkHelp } from '../buy/network-names.ts'
import { type AddCommand, jsonOption } from '../command-context.ts'
import { nodeOption } from '../find-node.ts'
import { withOperator } from '../operator/connect.ts'
import { usdText, wholeOf } from '../read-option.ts'
import type { MeshBuyOptions } from './buy-in-mesh.ts'
import type { FindOptions, JoinOptions, PeersOptions } from './run-mesh.ts'

export const addMesh: AddCommand = (program, context) => {
  const group = program
    .command('mesh')
    .summary('Join a mesh, list peers, find offers, buy')
    .description(
      'Join the node that the environment configures to a mesh, see whom it knows, and find who offers what.',
    )
  group
    .command('join')
    .description('Join the mesh through another node; stored in addition to MESH_PEERS')
    .argument('<url>', 'API address of a node, such as https://api.example.org')
    .option('--url <origin>', 'API address of the node that joins; checked against its database')
    .option('--wait <seconds>', 'maximum time to wait for the other node', (text) => wholeOf(text, 0, 600), 20)
    .option(...jsonOption)
    .addHelpText('after', '\nExample:\n  assay mesh join http://127.0.0.1:4021')
    .action(async (url: string, options: JoinOptions) => {
      const { joinMesh } = await import('./run-mesh.ts')
      await withOperator(context.terminal, (operator) => joinMesh(context, operator, url, options))
    })
  group
    .command('peers')
    .description('List the peers of a node with state, health, latency and offers; verify the signature')
    .option(...nodeOption)
    .option(...jsonOption)
    .action(async (options: PeersOptions) => {
      const { showPeers } = await import('./run-mesh.ts')
      await showPeers(context, options)
    })
  group
    .command('find')
    .description(
      'Find nodes that offer a capability, best first, and why; verify signatures, prices and evidence, pay nothing',
    )
    .argument('<capability>', 'such as token.control.report')
    .option(...nodeOption)
    .option('--max-price <usd>', 'maximum price', usdText)
    .option('--schema <hash>', 'only offers with these input and output schemas')
    .option(...jsonOption)
    .action(async (capability: string, options: FindOptions) => {
      const { findNodes } = await import('./run-mesh.ts')
      await findNodes(context, capability, options)
    })
  group
    .command('buy')
    .description('Buy a capability from the best node of the mesh, within a maximum; verify everything')
    .argument('<capability>', 'such as token.control.report')
    .option(...nodeOption)
    .option('-p, --param <name=value>', 'parameter of the path; may be repeated', collect, [])
    .option('-q, --query <name=value>', 'parameter of the query; may be repeated', collect, [])
    .option('-d, --data <json>', 'request body')
    .option('--max-amount <usd>', 'maximum price; required without a terminal, except with --demo')
    .option('--schema <hash>', 'only offers with these input and output schemas')
    .option('--network <name>', `where to pay: ${networkHelp}`)
    .option('--usdc <address>', 'USDC contract of a chain that is not known here; needs --network')
    .option('--demo', 'pay with the buyer wallet of a demo node on this machine')
    .option('--key-file <path>', 'file with the private key of the wallet that pays')
    .option('--key-env <name>', 'environment variable with that key', undefined)
    .option('--report', 'publish a signed rating of the seller')
    .option('--dry-run', 'show the seller and its price, sign and pay nothing')
    .option('-y, --yes', 'do not ask for confirmation; needs --max-amount')
    .option(...jsonOption)
    .addHelpText('after', '\nExample:\n  assay mesh buy token.control.report -p address=$TOKEN --max-amount 0.05')
    .action(async (capability: string, options: MeshBuyOptions) => {
      const { buyInMesh } = await import('./buy-in-mesh.ts')
      await buyInMesh(context, capability, options)
    })
}

const collect = (value: string, earlier: string[]) => [...earlier, value]
