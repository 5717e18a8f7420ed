import { type AddCommand, jsonOption } from '../command-context.ts'
import { withOperator } from '../operator/connect.ts'
import type { FindOptions, PeersOptions } from './run-mesh.ts'

export const addMesh: AddCommand = (program, context) => {
  const group = program
    .command('mesh')
    .summary('nodes that find each other')
    .description(
      'Join the node that the environment configures to a mesh, see whom it knows, and find who offers what.',
    )
  group
    .command('join')
    .description('let this node join the mesh through another node; it is kept, beside MESH_PEERS')
    .argument('<url>', 'API address of a node, such as https://api.example.org')
    .option('--wait <seconds>', 'how long to wait until the other node is seen', '20')
    .option(...jsonOption)
    .addHelpText('after', '\nExample:\n  assay mesh join http://127.0.0.1:4021')
    .action(async (url: string, options: { wait: string; json?: boolean }) => {
      const { joinMesh } = await import('./run-mesh.ts')
      await withOperator(context.terminal, (operator) => joinMesh(context, operator, url, options))
    })
  group
    .command('peers')
    .description('the peers of a node, with state, health, latency and what they offer; the signature is checked')
    .option('--url <origin>', 'API address of the node', 'http://127.0.0.1:4020')
    .option(...jsonOption)
    .action(async (options: PeersOptions) => {
      const { showPeers } = await import('./run-mesh.ts')
      await showPeers(context, options)
    })
  group
    .command('find')
    .description('who offers a capability, cheapest first; signatures and prices are checked, nothing is paid')
    .argument('<capability>', 'such as token.control.report')
    .option('--url <origin>', 'API address of a node to start from', 'http://127.0.0.1:4020')
    .option('--max-price <usd>', 'leave out what costs more')
    .option(...jsonOption)
    .action(async (capability: string, options: FindOptions) => {
      const { findNodes } = await import('./run-mesh.ts')
      await findNodes(context, capability, options)
    })
}
