import { type Address, checksumAddress } from '@assay/protocol/address'
import { canonicalJson } from '@assay/protocol/canonical-json'
import { nodeDomain } from '@assay/protocol/typed-data/node-domain'
import { encodeWord } from '@assay/protocol/typed-data/words'
import { sha256 } from '@assay/till/kernel/bytes'
import { keccak256 } from '@assay/till/kernel/keccak'
import type { Statement } from '@assay/till/proofs'

/** What a wallet says when it redeems. Times are unix seconds, as the typed data carries them. */
export type RedeemMessage = {
  wallet: Address
  points: bigint
  reward: string
  nonce: string
  issuedAt: number
  expiresAt: number
}

export const redeemTypes = {
  Redeem: [
    { name: 'wallet', type: 'address' },
    { name: 'points', type: 'uint256' },
    { name: 'reward', type: 'string' },
    { name: 'nonce', type: 'string' },
    { name: 'issuedAt', type: 'uint256' },
    { name: 'expiresAt', type: 'uint256' },
  ],
} as const

export function redeemStatement(message: RedeemMessage): Statement {
  const { wallet, points, reward, nonce, issuedAt, expiresAt } = message
  return {
    types: redeemTypes,
    primaryType: 'Redeem',
    message: {
      wallet: checksumAddress(wallet),
      points: points.toString(),
      reward,
      nonce,
      issuedAt: String(issuedAt),
      expiresAt: String(expiresAt),
    },
  }
}

/** The same for wallets that cannot sign typed data (EIP-191). It names the node and the chain, so it counts nowhere else. */
export function redeemText(message: RedeemMessage, node: string, chainId: number): string {
  return [
    `Redeem points at ${node}`,
    '',
    `Wallet: ${checksumAddress(message.wallet)}`,
    `Points: ${message.points}`,
    `Reward: ${message.reward}`,
    `Nonce: ${message.nonce}`,
    `Issued at: ${message.issuedAt}`,
    `Expires at: ${message.expiresAt}`,
    `Chain ID: ${chainId}`,
  ].join('\n')
}

export function requestHash(body: Record<string, string | number>): Buffer {
  return sha256(canonicalJson(body))
}

const hashOf = (text: string): string => keccak256(Buffer.from(text)).toString('hex')
const domainTypeHash = hashOf('EIP712Domain(string name,string version,uint256 chainId,bytes32 salt)')
const redeemTypeHash = hashOf(`Redeem(${redeemTypes.Redeem.map(({ name, type }) => `${type} ${name}`).join(',')})`)

/** The EIP-712 digest of the statement, in its fixed layout: a general encoder would be most of the cost of a check. */
export function redeemDigest(message: RedeemMessage, node: string, chainId: number): Buffer {
  const { name, version, salt } = nodeDomain(node, chainId)
  const domain = domainTypeHash + hashOf(name) + hashOf(version) + encodeWord(chainId) + salt.slice(2)
  const struct =
    redeemTypeHash +
    encodeWord(message.wallet) +
    encodeWord(message.points) +
    hashOf(message.reward) +
    hashOf(message.nonce) +
    encodeWord(message.issuedAt) +
    encodeWord(message.expiresAt)
  const hashed = (words: string) => keccak256(Buffer.from(words, 'hex'))
  return keccak256(Buffer.concat([Buffer.from([0x19, 0x01]), hashed(domain), hashed(struct)]))
}
