import type { Address } from '../address.ts'
import { concatBytes, type Hex, utf8 } from '../bytes.ts'
import { type Hash, keccak256 } from '../hash.ts'
import { addressWord, encodeWord, uintWord } from './words.ts'

/** At the same addresses on every chain. */
export const permit2Address: Address = '0x000000000022d473030f116ddee9f6b43ac78ba3'

/** The x402 contracts that carry a permit, by scheme. */
export const permit2Proxies = {
  exact: '0x402085c248eea27d92e8b30b2c58ed07f9e20001',
  upto: '0x4020a4f3b7b90cca423b9fabcc0ce57c6c240002',
} as const satisfies Record<string, Address>

export type Permit2Scheme = keyof typeof permit2Proxies

/** A signed transfer through Permit2; times are unix seconds. `facilitator` alone may submit one of `upto`. */
export type Permit2Transfer = {
  from: Address
  token: Address
  amount: bigint
  nonce: bigint
  deadline: bigint
  to: Address
  validAfter: bigint
  facilitator?: Address
}

const tokenType = 'TokenPermissions(address token,uint256 amount)'
const witnessTypes: Record<Permit2Scheme, string> = {
  exact: 'Witness(address to,uint256 validAfter)',
  upto: 'Witness(address to,address facilitator,uint256 validAfter)',
}
const permitType =
  'PermitWitnessTransferFrom(TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline,Witness witness)'
const domainType = 'EIP712Domain(string name,uint256 chainId,address verifyingContract)'

const uint256 = (name: string) => ({ name, type: 'uint256' })
const address = (name: string) => ({ name, type: 'address' })

/** The same types as wallets take them. */
export const permit2Types = (scheme: Permit2Scheme) => ({
  PermitWitnessTransferFrom: [
    { name: 'permitted', type: 'TokenPermissions' },
    address('spender'),
    uint256('nonce'),
    uint256('deadline'),
    { name: 'witness', type: 'Witness' },
  ],
  TokenPermissions: [address('token'), uint256('amount')],
  Witness: [address('to'), ...(scheme === 'upto' ? [address('facilitator')] : []), uint256('validAfter')],
})

export const permit2Domain = (chainId: number) => ({ name: 'Permit2', chainId, verifyingContract: permit2Address })

/** The digest that the payer signs. */
export function permit2Digest(
  scheme: Permit2Scheme,
  chainId: number,
  transfer: Permit2Transfer,
  keccak: Hash = keccak256,
): Uint8Array {
  const { facilitator } = transfer
  if ((scheme === 'upto') !== (facilitator !== undefined)) throw new RangeError('upto names a facilitator, exact none')
  const struct = (type: string, ...words: Uint8Array[]) => keccak(concatBytes(keccak(utf8(type)), ...words))
  const domain = struct(domainType, keccak(utf8('Permit2')), uintWord(chainId), addressWord(permit2Address))
  const witness = struct(
    witnessTypes[scheme],
    addressWord(transfer.to),
    ...(facilitator === undefined ? [] : [addressWord(facilitator)]),
    uintWord(transfer.validAfter),
  )
  const permit = struct(
    `${permitType}${tokenType}${witnessTypes[scheme]}`,
    struct(tokenType, addressWord(transfer.token), uintWord(transfer.amount)),
    addressWord(permit2Proxies[scheme]),
    uintWord(transfer.nonce),
    uintWord(transfer.deadline),
    witness,
  )
  return keccak(concatBytes(new Uint8Array([0x19, 0x01]), domain, permit))
}

/** What a claim of a permit is known by: all tokens and both proxies share the nonces of an owner. */
export const permit2Key = (nonce: bigint): Hex => `${permit2Address}${encodeWord(nonce)}`

export function nonceOfPermit2Key(key: Hex): bigint | undefined {
  return key.length === 2 + 40 + 64 && key.startsWith(permit2Address) ? BigInt(`0x${key.slice(-64)}`) : undefined
}
