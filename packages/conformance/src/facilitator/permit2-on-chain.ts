import { permit2Address, permit2Domain, permit2Proxies, permit2Types } from '@assay/protocol/typed-data/permit2'
import { type Address, erc20Abi, getAddress, type Hex, parseAbi } from 'viem'
import { type Permit2Authorization, permit2Message } from '../permit2.ts'
import type { PaymentRequirements } from './settle-on-chain.ts'

const structs = [
  'struct TokenPermissions { address token; uint256 amount; }',
  'struct Permit { TokenPermissions permitted; uint256 nonce; uint256 deadline; }',
] as const
const exactProxy = parseAbi([
  ...structs,
  'struct Witness { address to; uint256 validAfter; }',
  'function settle(Permit permit, address owner, Witness witness, bytes signature)',
])
const uptoProxy = parseAbi([
  ...structs,
  'struct Witness { address to; address facilitator; uint256 validAfter; }',
  'function settle(Permit permit, uint256 amount, address owner, Witness witness, bytes signature)',
])
export const permit2Abi = parseAbi([
  'function nonceBitmap(address owner, uint256 word) view returns (uint256)',
  'function invalidateUnorderedNonces(uint256 word, uint256 mask)',
])

/** The call that takes `amount` of what the payer has permitted. */
export function permit2Call(authorization: Permit2Authorization, amount: bigint, signature: Hex) {
  const { from, permitted, nonce, deadline, witness } = authorization
  const permit = {
    permitted: { token: permitted.token as Address, amount: BigInt(permitted.amount) },
    ...{ nonce: BigInt(nonce), deadline: BigInt(deadline) },
  }
  const owner = from as Address
  const to = { to: witness.to as Address, validAfter: BigInt(witness.validAfter) }
  if (witness.facilitator === undefined)
    return {
      ...{ address: permit2Proxies.exact, abi: exactProxy, functionName: 'settle' as const },
      args: [permit, owner, to, signature] as const,
    }
  return {
    ...{ address: permit2Proxies.upto, abi: uptoProxy, functionName: 'settle' as const },
    args: [permit, amount, owner, { ...to, facilitator: witness.facilitator as Address }, signature] as const,
  }
}

/** What is read of the chain to check a permit. */
export type Permit2Reads = {
  chainId: number
  /** The wallet that settles. */
  settler: Address
  /** Unix seconds. */
  now(): number
  verifyTypedData(typed: Record<string, unknown>): Promise<boolean>
  readContract(call: Record<string, unknown>): Promise<unknown>
}

/** Undefined when the permit is what the requirements ask for and could settle now. */
export async function permit2Fault(
  reads: Permit2Reads,
  { permit2Authorization: permit, signature }: { permit2Authorization: Permit2Authorization; signature: Hex },
  { scheme, asset, amount, payTo }: PaymentRequirements,
  isSettling: boolean,
): Promise<string | undefined> {
  if (scheme !== 'exact' && scheme !== 'upto') return 'unsupported_scheme'
  const { from, permitted, spender, nonce, deadline, witness } = permit
  const same = (one: string, other: string) => one.toLowerCase() === other.toLowerCase()
  if (!same(spender, permit2Proxies[scheme])) return 'invalid_permit2_spender'
  if (!same(permitted.token, asset)) return 'permit2_token_mismatch'
  if (!same(witness.to, payTo)) return 'invalid_permit2_recipient_mismatch'
  const [most, asked] = [BigInt(permitted.amount), BigInt(amount)]
  if (scheme === 'upto' && isSettling ? asked > most : asked !== most) return 'permit2_amount_mismatch'
  if ((scheme === 'upto') !== (witness.facilitator !== undefined)) return 'invalid_payload'
  if (witness.facilitator !== undefined && !same(witness.facilitator, reads.settler)) return 'upto_facilitator_mismatch'
  const now = reads.now()
  if (Number(deadline) < now + 6) return 'permit2_deadline_expired'
  if (Number(witness.validAfter) > now) return 'permit2_not_yet_valid'
  const isSigned = await reads
    .verifyTypedData({
      ...{ address: from, domain: permit2Domain(reads.chainId), types: permit2Types(scheme), signature },
      ...{ primaryType: 'PermitWitnessTransferFrom', message: permit2Message(permit) },
    })
    .catch(() => false)
  if (!isSigned) return 'invalid_permit2_signature'
  const read = (address: string, abi: unknown, functionName: string, args: unknown[]) =>
    reads.readContract({ address, abi, functionName, args }) as Promise<bigint>
  const bits = await read(permit2Address, permit2Abi, 'nonceBitmap', [from, BigInt(nonce) >> 8n])
  if ((bits >> (BigInt(nonce) & 0xffn)) & 1n) return 'permit2_nonce_already_used'
  const allowed = await read(asset, erc20Abi, 'allowance', [from, getAddress(permit2Address)])
  if (allowed < asked) return 'permit2_allowance_required'
  return (await read(asset, erc20Abi, 'balanceOf', [from])) < asked ? 'insufficient_funds' : undefined
}
