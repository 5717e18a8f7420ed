import type { ChainTransfer, RpcLog } from '@assay/till/chain'
import type { Address } from '@assay/till/kernel/address'
import { type Hex, sha256, toHex } from '@assay/till/kernel/bytes'
import type { Micro } from '@assay/till/kernel/money'
import { encodeAbiParameters, numberToHex, pad } from 'viem'

export type PlayedAdvance = { epoch: bigint; root: Buffer; totalMicro: Micro }

/** The roots of a distributor that a test plays: their logs, and the transfers that back them. */
export function playAdvances(contract: Address, custody: Address) {
  const advances: PlayedAdvance[] = []
  const transactionOf = (epoch: bigint): Hex => toHex(sha256(`${contract} ${epoch}`))
  const increaseOf = ({ epoch, totalMicro }: PlayedAdvance): Micro =>
    totalMicro - (advances.find((one) => one.epoch === epoch - 1n)?.totalMicro ?? 0n)
  return {
    transactionOf,
    land: (advance: PlayedAdvance) => {
      advances.push(advance)
    },
    logs: (): RpcLog[] =>
      advances.map((advance) => ({
        address: contract,
        topics: ['0x00', pad(numberToHex(advance.epoch))],
        data: encodeAbiParameters(
          [{ type: 'bytes32' }, { type: 'uint256' }, { type: 'uint256' }],
          [toHex(advance.root), advance.totalMicro, increaseOf(advance)],
        ),
        blockNumber: '0x1',
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
          amountMicro: increaseOf(advance),
          nonce: toHex(sha256(transaction)),
        })),
  }
}
