import type { Address } from '@assay/protocol/address'
import { type Hex, toHex } from '@assay/protocol/bytes'
import type { PayoutLeaf } from '@assay/protocol/payout-tree'
import type { ChainTransfer, RpcLog } from '@assay/till/chain'
import { sha256 } from '@assay/till/kernel/bytes'
import type { Sql } from '@assay/till/store/database'
import { encodeAbiParameters, encodeEventTopics, numberToHex } from 'viem'
import { distributorAbi } from './contracts.ts'
import { readLeaves } from './store-leaves.ts'

export type PlayedAdvance = { epoch: bigint; root: Buffer; opensAt: number; leaves: readonly PayoutLeaf[] }

const dataTypes = [
  { type: 'bytes32' },
  { type: 'uint256' },
  { type: 'uint64' },
  {
    type: 'tuple[]',
    components: [
      { name: 'account', type: 'bytes32' },
      { name: 'wallet', type: 'address' },
      { name: 'amount', type: 'uint64' },
    ],
  },
] as const

/** The roots of a distributor that a test plays: their logs, and the transfers that back them. */
export function playAdvances(contract: Address, custody: Address) {
  const advances: PlayedAdvance[] = []
  const transactionOf = (epoch: bigint): Hex => toHex(sha256(`${contract} ${epoch}`))
  const potOf = ({ leaves }: PlayedAdvance) => leaves.reduce((sum, { micro }) => sum + micro, 0n)
  const totalMicro = () => advances.reduce((sum, advance) => sum + potOf(advance), 0n)
  return {
    transactionOf,
    totalMicro,
    /** The signed root of a network lands as it is; returns its epoch. */
    landSigned: async (sql: Sql, network: string, opensAt: number): Promise<bigint | undefined> => {
      const { rows } = await sql.query<{ id: bigint; epoch: bigint; root: Buffer }>(
        `select id, epoch, root from creator_root where network = $1 and state = 'signed'`,
        [network],
      )
      const [open] = rows
      if (open) advances.push({ ...open, opensAt, leaves: await readLeaves(sql, open.id) })
      return open?.epoch
    },
    logs: (): RpcLog[] =>
      advances.map((advance) => ({
        address: contract,
        topics: encodeEventTopics({
          abi: distributorAbi,
          eventName: 'Advanced',
          args: { epoch: advance.epoch },
        }) as Hex[],
        data: encodeAbiParameters(dataTypes, [
          toHex(advance.root),
          potOf(advance),
          BigInt(advance.opensAt),
          advance.leaves.map(({ account, wallet, micro }) => ({ account, wallet, amount: micro })),
        ]),
        blockNumber: numberToHex(1),
        blockHash: transactionOf(advance.epoch),
        transactionHash: transactionOf(advance.epoch),
        logIndex: '0x0',
      })),
    transfersIn: async (transaction: Hex): Promise<ChainTransfer[]> =>
      advances
        .filter(({ epoch }) => transactionOf(epoch) === transaction)
        .map((advance) => ({
          transaction,
          position: 1,
          blockNumber: 1n,
          blockHash: `0x${'00'.repeat(32)}`,
          logIndex: 1,
          sender: custody,
          recipient: contract,
          amountMicro: potOf(advance),
          paymentKey: toHex(sha256(transaction)),
        })),
  }
}
