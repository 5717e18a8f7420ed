import type { MeshStatement } from '@assay/protocol/mesh/read-statement'
import type { PeerLogs, PeerWitness } from '../../tlog/peers/index.ts'
import type { MeshDeps } from './deps.ts'
import { openKnownStatement } from './known-statements.ts'
import { findByAuthorities, type PeerRow, shownPeers } from './store.ts'

type PeerLog = NonNullable<Awaited<ReturnType<PeerLogs['findLog']>>>

const witnessesReadMax = 64

export function createPeerLogs({
  database,
  clock,
  fetcher,
  registeredSql,
  rng,
}: Pick<MeshDeps, 'database' | 'clock' | 'registeredSql' | 'rng' | 'fetcher'>): PeerLogs {
  return {
    anybodySql: 'exists (select from mesh_peer)',
    fetch: fetcher.fetch,
    findLog: async (origin) => {
      const rows = await findByAuthorities(database, [authorityOf(origin)], clock.nowMs())
      return rows.map(announcedLog).find((log) => log?.origin === origin)
    },
    witnesses: async (known) => {
      const named = known.slice(0, witnessesReadMax).map((key) => authorityOf(key.split('+')[0] ?? ''))
      const rows = [
        ...(await findByAuthorities(database, named, clock.nowMs())),
        ...(await shownPeers({ database, registeredSql, rng }, clock.nowMs(), witnessesReadMax)),
      ]
      const offered = rows.flatMap((row) => announcedWitness(row) ?? [])
      return [...new Map(offered.map((witness) => [witness.did, witness])).values()]
    },
  }
}

const authorityOf = (name: string) => name.split('/')[0] ?? ''

/**
 * A peer speaks for logs and witnesses named after its own address only: two peers that claim one name would make a
 * witness sign two histories under it.
 */
const isNamedAfter = ({ address }: MeshStatement, name: string) => authorityOf(name) === new URL(address).host

export function announcedLog(row: Pick<PeerRow, 'did' | 'statement'>): PeerLog | undefined {
  const statement = row.statement === undefined ? undefined : openKnownStatement(row.statement)
  if (!statement?.log || !isNamedAfter(statement, statement.log.origin)) return undefined
  return { did: row.did, origin: statement.log.origin, keys: statement.log.keys }
}

/** Its URL is below the address of the peer, so that no peer can send others to a third party. */
export function announcedWitness(
  row: Pick<PeerRow, 'did' | 'statement' | 'state' | 'health'>,
): PeerWitness | undefined {
  const statement = row.statement === undefined ? undefined : openKnownStatement(row.statement)
  if (!statement?.witness || row.state !== 'alive') return undefined
  const { url, key } = statement.witness
  const [name = ''] = key.split('+')
  if (!isNamedAfter(statement, name) || !URL.canParse(url)) return undefined
  const { origin, pathname, href } = new URL(url)
  if (origin !== statement.address || href !== `${origin}${pathname}` || pathname.endsWith('/')) return undefined
  return { did: row.did, url, key, health: row.health }
}
