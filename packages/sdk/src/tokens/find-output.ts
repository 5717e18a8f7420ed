import { decodeFunctionResult, encodeFunctionData, parseAbi } from 'viem/utils'
import type { AskChain } from './prove-report.ts'

type Hex = `0x${string}`

const abi = parseAbi([
  'function disputeGameFactory() view returns (address)',
  'function respectedGameType() view returns (uint32)',
  'function retirementTimestamp() view returns (uint64)',
  'function disputeGameBlacklist(address) view returns (bool)',
  'function gameCount() view returns (uint256)',
  'function gameAtIndex(uint256) view returns (uint32, uint64, address)',
  'function rootClaim() view returns (bytes32)',
  'function extraData() view returns (bytes)',
  'function status() view returns (uint8)',
])

export type FinalOutput = {
  factory: Hex
  game: Hex
  gameType: number
  rootClaim: Hex
  extraData: Hex
  blockNumber: bigint
}

type Claim = { output: FinalOutput; won: boolean }

// Outputs come about hourly: several weeks of them.
const gamesMax = 2_000
const gamesAtOnce = 20
const defenderWins = 2

/** The earliest won claim about a block at or after the given one, among the latest claims; nothing here is trusted. */
export async function findFinalOutput(
  ask: AskChain,
  anchor: Hex,
  from: bigint,
  l1Block: bigint,
): Promise<FinalOutput | undefined> {
  const call = async (to: Hex, functionName: string, ...args: unknown[]): Promise<unknown> => {
    const data = encodeFunctionData({ abi, functionName, args } as never)
    const result = (await ask('eth_call', [{ to, data }, `0x${l1Block.toString(16)}`])) as Hex
    return decodeFunctionResult({ abi, functionName, data: result } as never)
  }
  const factory = String(await call(anchor, 'disputeGameFactory')).toLowerCase() as Hex
  const respected = Number(await call(anchor, 'respectedGameType'))
  const count = Number(await call(factory, 'gameCount'))
  const retired = (await call(anchor, 'retirementTimestamp')) as bigint
  const read = async (index: number): Promise<Claim | undefined> => {
    const [gameType, createdAt, address] = (await call(factory, 'gameAtIndex', BigInt(index))) as [
      number,
      bigint,
      string,
    ]
    if (gameType !== respected || createdAt <= retired) return undefined
    const game = address.toLowerCase() as Hex
    const [rootClaim, extraData, status, blacklisted] = await Promise.all([
      call(game, 'rootClaim'),
      call(game, 'extraData'),
      call(game, 'status'),
      call(anchor, 'disputeGameBlacklist', game),
    ])
    const extra = String(extraData) as Hex
    if (extra.length < 66 || blacklisted === true) return undefined
    const blockNumber = BigInt(extra.slice(0, 66))
    const output = { factory, game, gameType, rootClaim: rootClaim as Hex, extraData: extra, blockNumber }
    return { output, won: Number(status) === defenderWins }
  }
  let best: FinalOutput | undefined
  for (let end = count; end > Math.max(0, count - gamesMax); end -= gamesAtOnce) {
    const indexes = Array.from({ length: Math.min(gamesAtOnce, end) }, (_, i) => end - 1 - i)
    const claims = (await Promise.all(indexes.map(read))).filter((claim) => claim !== undefined)
    for (const { output, won } of claims)
      if (won && output.blockNumber >= from && (best === undefined || output.blockNumber < best.blockNumber))
        best = output
    // Claims are made in the order of blocks, give or take a few.
    if (best !== undefined && claims.every(({ output }) => output.blockNumber < from)) break
  }
  return best
}
