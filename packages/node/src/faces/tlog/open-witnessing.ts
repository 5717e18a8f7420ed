import type { Shop, ShopContext } from '../../shops/shop.ts'
import { type LogSettings, logPath, type TransparencyLog, type WitnessPeer } from '../../tlog/index.ts'
import { createPeerAsker, openOwnWitness, type PeerLogs } from '../../tlog/peers/index.ts'
import { witnessPath, witnessRoutes } from './witness-routes.ts'

/** Old keys that have not been revoked still verify heads signed with them; peers need the newest ones only. */
const keysAnnouncedMax = 4
const pollSeconds = 5

/** Nodes of the mesh cosign each other's logs: the witness this node is, and the peers it asks. */
export async function openWitnessing(
  context: ShopContext,
  peers: PeerLogs,
  tree: TransparencyLog,
  configured: readonly WitnessPeer[],
  settings: Pick<LogSettings, 'peerWitnesses'>,
): Promise<Required<Pick<Shop, 'routes' | 'jobs' | 'announces'>>> {
  const { database, clock, log, metrics, apiUrl } = context
  const witness = await openOwnWitness(context, `${new URL(apiUrl).host}${witnessPath}`, peers)
  const ask = createPeerAsker(
    { database, log, metrics, tree, clock, peers },
    settings.peerWitnesses,
    configured.map(({ key }) => key),
  )
  return {
    routes: witnessRoutes({ database, witness, metrics, apiUrl }),
    jobs: [
      {
        name: 'log.peer_witnesses',
        intervalMs: 1_000,
        work: ask,
        // A new head is shown at once. Peers that came since, or have rested, wait a few seconds.
        due: `case when ${peers.anybodySql} then (select max(size) from log_checkpoint) || ' ' ||
          floor(extract(epoch from $1) / ${pollSeconds}) end`,
      },
    ],
    announces: () => ({
      log: { origin: tree.origin, url: `${apiUrl}${logPath}`, keys: tree.keys().slice(-keysAnnouncedMax) },
      witness: { url: `${apiUrl}${witnessPath}`, key: witness.key.vkey },
    }),
  }
}
