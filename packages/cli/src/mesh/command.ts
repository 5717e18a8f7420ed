import { type AddCommand, jsonOption } from '../command-context.ts'
import { withOperator } from '../operator/connect.ts'
import type { FindOptions, JoinOptions, PeersOptions } from './run-mesh.ts'

export const addMesh: AddCommand = (program, context) => {
  const group = program
    .command('mesh')
    .summary('Join a mesh, list peers, find offers')
    .description(
      'Join the node that the environment configures to a mesh, see whom it knows, and find who offers what.',
    )
  group
    .command('join')
    .description('Join the mesh through another node; stored in addition to MESH_PEERS')
    .argument('<url>', 'API address of a node, such as https://api.example.org')
    .option('--url <origin>', 'API address of the node that joins; checked against its database')
    .option('--wait <seconds>', 'maximum time to wait for the other node', '20')
    .option(...jsonOption)
    .addHelpText('after', '\nExample:\n  assay mesh join http://127.0.0.1:4021')
    .action(async (url: string, options: JoinOptions) => {
      const { joinMesh } = await import('./run-mesh.ts')
      await withOperator(context.terminal, (operator) => joinMesh(context, operator, url, options))
    })
  group
    .command('peers')
    .description('List the peers of a node with state, health, latency and offers; verify the signature')
    .option('--url <origin>', 'API address of the node', 'http://127.0.0.1:4020')
    .option(...jsonOption)
    .action(async (options: PeersOptions) => {
      const { showPeers } = await import('./run-mesh.ts')
      await showPeers(context, options)
    })
  group
    .command('find')
    .description('Find nodes that offer a capability, cheapest first; verify signatures and prices, pay nothing')
    .argument('<capability>', 'such as token.control.report')
    .option('--url <origin>', 'API address of a node to start from', 'http://127.0.0.1:4020')
    .option('--max-price <usd>', 'maximum price')
    .option(...jsonOption)
    .action(async (capability: string, options: FindOptions) => {
      const { findNodes } = await import('./run-mesh.ts')
      await findNodes(context, capability, options)
    })
}
