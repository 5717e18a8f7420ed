import { type Address, encodeAbiParameters, type Hex, keccak256, stringToHex } from 'viem'

export type EpochLeaf = { account: Hex; wallet: Address; micro: bigint }

/** The name of a domain in the contract that pays creators. */
export const accountOfDomain = (domain: string): Hex => keccak256(stringToHex(domain))

const leafTypes = [
  { type: 'uint256' },
  { type: 'address' },
  { type: 'uint64' },
  { type: 'bytes32' },
  { type: 'address' },
  { type: 'uint64' },
] as const
const pairTypes = [{ type: 'bytes32' }, { type: 'bytes32' }] as const

const join = (a: Hex, b: Hex) => keccak256(encodeAbiParameters(pairTypes, a < b ? [a, b] : [b, a]))

/** As `rootOf` of the contract: leaves ascend by account and wallet, a node without sibling goes up as it is. */
export function payoutRoot(
  place: { chainId: bigint; contract: Address; epoch: bigint },
  leaves: readonly EpochLeaf[],
): Hex {
  const order = ({ account, wallet }: EpochLeaf) => (account + wallet).toLowerCase()
  let row = [...leaves]
    .sort((a, b) => (order(a) < order(b) ? -1 : 1))
    .map(({ account, wallet, micro }) =>
      keccak256(
        keccak256(encodeAbiParameters(leafTypes, [place.chainId, place.contract, place.epoch, account, wallet, micro])),
      ),
    )
  while (row.length > 1)
    row = Array.from({ length: Math.ceil(row.length / 2) }, (_, n) => {
      const [left, right] = [row[2 * n] as Hex, row[2 * n + 1]]
      return right === undefined ? left : join(left, right)
    })
  return row[0] ?? `0x${'00'.repeat(32)}`
}
