import { authorizationTypes } from '@assay/protocol/typed-data/transfer-authorization'
import { type Address, type Hex, type LocalAccount, parseAbi } from 'viem'
import { type OpenWallet, openWallet } from '../open-wallet.ts'
import type { Permit2Authorization } from '../permit2.ts'
import type { Time } from '../time.ts'
import type { Settlement } from './control.ts'
import type { Settled } from './faults.ts'
import { type Permit2Reads, permit2Call, permit2Fault } from './permit2-on-chain.ts'

const token = parseAbi([
  'function balanceOf(address owner) view returns (uint256)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
])

type Authorization = Record<'from' | 'to' | 'value' | 'validAfter' | 'validBefore', string> & { nonce: Hex }

/** What the payer signed: a transfer by EIP-3009, or one by Permit2. */
type Payload = AuthorizationPayload | Permit2Payload
type AuthorizationPayload = { signature: Hex; authorization: Authorization; permit2Authorization?: undefined }
type Permit2Payload = { signature: Hex; authorization?: undefined; permit2Authorization: Permit2Authorization }

export type PaymentRequirements = {
  scheme: string
  network: string
  asset: Address
  amount: string
  payTo: Address
  extra?: { name?: string; version?: string }
}

/** Body of /verify and /settle. */
export type FacilitatorRequest = { paymentPayload: { payload: Payload }; paymentRequirements: PaymentRequirements }

/** Whose money it is, and by which nonce the settlement is known. */
export const signedBy = ({ paymentPayload: { payload } }: FacilitatorRequest): { payer: Address; nonce: string } => {
  const { from, nonce } = payload.authorization ?? payload.permit2Authorization
  return { payer: from as Address, nonce }
}

/** An honest facilitator for `exact` by EIP-3009 and Permit2, and for `upto`, on one chain. */
export function settleOnChain(input: {
  rpc: string
  network: string
  account: LocalAccount
  time: Pick<Time, 'nowMs'>
}) {
  const { account } = input
  const wallet = openWallet(input.rpc, input.network, account)
  const now = () => Math.floor(input.time.nowMs() / 1000)
  const settlements: Settlement[] = []
  /** One transaction after the other: they share the nonce of the wallet. */
  let queue: Promise<unknown> = Promise.resolve()

  /** Undefined when the payment is what its requirements ask for and could settle now. */
  const fault = async (
    { paymentPayload: { payload }, paymentRequirements }: FacilitatorRequest,
    isSettling = false,
  ): Promise<string | undefined> => {
    if (paymentRequirements.network !== input.network) return 'invalid_network'
    if (payload.authorization) return authorizationFault(wallet, now(), payload, paymentRequirements)
    const reads = { chainId: wallet.chain.id, settler: account.address, now, ...wallet } as unknown as Permit2Reads
    return permit2Fault(reads, payload, paymentRequirements, isSettling)
  }

  const send = ({ paymentPayload: { payload }, paymentRequirements }: FacilitatorRequest): Promise<Hex> => {
    if (payload.permit2Authorization)
      return wallet.writeContract(
        permit2Call(
          payload.permit2Authorization,
          BigInt(paymentRequirements.amount),
          payload.signature,
        ) as unknown as Parameters<typeof wallet.writeContract>[0],
      )
    const { from, to, value, validAfter, validBefore, nonce } = messageOf(payload.authorization)
    return wallet.writeContract({
      address: paymentRequirements.asset,
      abi: token,
      functionName: 'transferWithAuthorization',
      args: [from, to, value, validAfter, validBefore, nonce, payload.signature],
    })
  }

  const carry = async (request: FacilitatorRequest): Promise<Settled> => {
    const { amount, scheme } = request.paymentRequirements
    // Nothing was used: there is nothing to take, and the permit stays as it was.
    if (scheme === 'upto' && BigInt(amount) === 0n) return { status: 'submitted', transaction: '0x', feeMicro: 0n }
    const hash = await send(request).catch(() => undefined)
    if (hash === undefined)
      return { status: 'refused', reason: 'invalid_exact_evm_transaction_simulation_failed', payloadSent: false }
    const receipt = await wallet.waitForTransactionReceipt({ hash, pollingInterval: 50 })
    const success = receipt.status === 'success'
    settlements.push({ ...signedBy(request), value: amount, transaction: hash, success })
    if (!success) return { status: 'refused', reason: 'invalid_transaction_state', payloadSent: true }
    return { status: 'submitted', transaction: hash, feeMicro: 0n }
  }

  return {
    address: account.address,
    settlements: () => settlements,
    verify: fault,
    settle: (request: FacilitatorRequest): Promise<Settled> => {
      const next = queue.then(() => carry(request))
      queue = next.catch(() => {})
      return next
    },
  }
}

/** `now`: Unix seconds. */
async function authorizationFault(
  wallet: OpenWallet,
  now: number,
  { signature, authorization }: AuthorizationPayload,
  { asset, amount, payTo, scheme, extra }: PaymentRequirements,
): Promise<string | undefined> {
  if (scheme !== 'exact') return 'unsupported_scheme'
  if (authorization.to.toLowerCase() !== payTo.toLowerCase()) return 'invalid_exact_evm_recipient_mismatch'
  if (BigInt(authorization.value) !== BigInt(amount)) return 'invalid_exact_evm_authorization_value'
  if (Number(authorization.validBefore) < now + 6) return 'invalid_exact_evm_payload_authorization_valid_before'
  if (Number(authorization.validAfter) > now) return 'invalid_exact_evm_payload_authorization_valid_after'
  const owner = authorization.from as Address
  const signed = await wallet
    .verifyTypedData({
      address: owner,
      domain: {
        ...{ name: extra?.name ?? 'USD Coin', version: extra?.version ?? '2' },
        ...{ chainId: wallet.chain.id, verifyingContract: asset },
      },
      types: authorizationTypes,
      primaryType: 'TransferWithAuthorization',
      message: messageOf(authorization),
      signature,
    })
    .catch(() => false)
  if (!signed) return 'invalid_exact_evm_signature'
  const read = { address: asset, abi: token }
  if (await wallet.readContract({ ...read, functionName: 'authorizationState', args: [owner, authorization.nonce] }))
    return 'invalid_exact_evm_nonce_already_used'
  const balance = await wallet.readContract({ ...read, functionName: 'balanceOf', args: [owner] })
  return balance < BigInt(amount) ? 'insufficient_funds' : undefined
}

const messageOf = (authorization: Authorization) => ({
  from: authorization.from as Address,
  to: authorization.to as Address,
  value: BigInt(authorization.value),
  validAfter: BigInt(authorization.validAfter),
  validBefore: BigInt(authorization.validBefore),
  nonce: authorization.nonce,
})
