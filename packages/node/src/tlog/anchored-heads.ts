import type { Hex } from '@assay/protocol/bytes'
import { type ChainPort, type Rpc, type RpcLog, searchLogs } from '@assay/till/chain'
import { fromHex } from '@assay/till/kernel/bytes'
import type { Database } from '@assay/till/store/database'
import { decodeFunctionData, keccak256, stringToHex } from 'viem'
import { logAnchorAbi, logAnchorContract } from './anchor-contract.ts'
import type { HeadSource, OutsideHead } from './outside-heads.ts'

export type AnchoredDeps = { database: Database; chain: ChainPort; rpc: Rpc; origin: string }

/** keccak256 of `Anchored(bytes32,uint64,bytes32,address)`. */
const anchoredTopic = keccak256(stringToHex('Anchored(bytes32,uint64,bytes32,address)'))
/** Anybody may anchor under our name: so many are looked into at a time, the largest sizes first. */
const eventsMax = 200
/** How far a database that knows nothing of the chain looks back; providers give a few thousand blocks at a time. */
const lookBackBlocks = 200_000n

/** The heads of this log on chain. Each carries its note in the call data, so it proves itself. */
export function anchoredHeads({ database, chain, rpc, origin }: AnchoredDeps): HeadSource {
  const network = chain.network.caip2
  const name = `anchor ${network}`
  return {
    name,
    seesEveryHead: false,
    outsideHeads: async () => {
      const toBlock = (await chain.finalizedBlock('patient')).number
      const fromBlock = await firstBlock(database, network, toBlock)
      const events: RpcLog[] = []
      for (let from = fromBlock; from <= toBlock; from += stepBlocks) {
        const end = from + stepBlocks - 1n < toBlock ? from + stepBlocks - 1n : toBlock
        const topics = [anchoredTopic, keccak256(stringToHex(origin))]
        const found = await searchLogs(rpc, {
          address: logAnchorContract.address,
          topics,
          fromBlock: from,
          toBlock: end,
        })
        events.push(...found)
        // Only where there was nothing: a head that was found counts as seen when it was handed on, below.
        if (events.length === 0) await keepCursor(database, network, end)
      }
      const heads = await Promise.all(
        largestFirst(events).map(({ transactionHash }) => readNoteIn(rpc, transactionHash)),
      )
      if (toBlock >= fromBlock) await keepCursor(database, network, toBlock)
      return heads.flatMap((note): OutsideHead[] => (note === undefined ? [] : [{ source: name, note }]))
    },
  }
}

const stepBlocks = 10_000n

const keepCursor = (database: Database, network: string, block: bigint) =>
  database.query(
    `insert into log_anchor_scan values ($1, $2) on conflict (network) do update
       set block_number = greatest(log_anchor_scan.block_number, excluded.block_number)`,
    [network, block],
  )

const sizeOf = ({ topics }: RpcLog) => BigInt(topics[2] ?? 0)
const largestFirst = (events: readonly RpcLog[]) =>
  [...events].sort((a, b) => (sizeOf(a) < sizeOf(b) ? 1 : -1)).slice(0, eventsMax)

/**
 * After what was read before. A restored database names an earlier block, so what was anchored since its backup is read
 * again. At first from the last anchor that is known, or from where the books of this chain are.
 */
async function firstBlock(database: Database, network: string, toBlock: bigint): Promise<bigint> {
  const { rows } = await database.query<{ block: bigint | null }>(
    `select coalesce((select block_number + 1 from log_anchor_scan where network = $1),
       (select max(block_number) from log_anchor where network = $1),
       (select min(block_number) from reconcile_cursor where network = $1)) as block`,
    [network],
  )
  return rows[0]?.block ?? (toBlock > lookBackBlocks ? toBlock - lookBackBlocks : 0n)
}

async function readNoteIn(rpc: Rpc, transaction: Hex): Promise<string | undefined> {
  const found = (await rpc.first('eth_getTransactionByHash', [transaction])) as { input?: Hex } | null
  try {
    const { args } = decodeFunctionData({ abi: logAnchorAbi, data: found?.input ?? '0x' })
    return Buffer.from(fromHex(args?.[3] as Hex)).toString('utf8')
  } catch {
    // Sent through a contract of somebody else: its call data is not ours to read.
    return undefined
  }
}
