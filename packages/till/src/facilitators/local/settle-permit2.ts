import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { permit2Proxies } from '@assay/protocol/typed-data/permit2'
import { encodeFunctionData, parseAbi, parseSignature } from 'viem'
import { ChainUnreadable, isRevert, type Rpc } from '../../chain/index.ts'
import type { SettlementWallets } from '../../chain/wallet/index.ts'
import type { SettleOutcome } from '../../contract/facilitator.ts'
import type { Permit2Payment, TokenPermit } from '../permit2-payment.ts'

const structs = [
  'struct TokenPermissions { address token; uint256 amount; }',
  'struct Permit { TokenPermissions permitted; uint256 nonce; uint256 deadline; }',
] as const
const tokenPermitStruct = 'struct TokenPermit { uint256 value; uint256 deadline; bytes32 r; bytes32 s; uint8 v; }'
const abis = {
  exact: parseAbi([
    ...structs,
    tokenPermitStruct,
    'struct Witness { address to; uint256 validAfter; }',
    'function settle(Permit permit, address owner, Witness witness, bytes signature)',
    'function settleWithPermit(TokenPermit approval, Permit permit, address owner, Witness witness, bytes signature)',
  ]),
  upto: parseAbi([
    ...structs,
    'struct Witness { address to; address facilitator; uint256 validAfter; }',
    'function settle(Permit permit, uint256 amount, address owner, Witness witness, bytes signature)',
  ]),
}

/** As the contract takes it: the signature in its parts. */
function approvalOf({ value, deadline, signature }: TokenPermit) {
  const { r, s, yParity } = parseSignature(signature)
  return { value, deadline, r, s, v: 27 + yParity }
}

/** The call of the proxy that takes `amountMicro` of what the payer signed. */
export function permit2Call({ scheme, amountMicro, permit2 }: Permit2Payment): Hex {
  const { transfer, signature, tokenPermit } = permit2
  const { token, amount, nonce, deadline, from, to, validAfter, facilitator } = transfer
  const permit = { permitted: { token, amount }, nonce, deadline }
  if (scheme === 'exact') {
    const args = [permit, from, { to, validAfter }, signature] as const
    return tokenPermit
      ? encodeFunctionData({
          abi: abis.exact,
          functionName: 'settleWithPermit',
          args: [approvalOf(tokenPermit), ...args],
        })
      : encodeFunctionData({ abi: abis.exact, functionName: 'settle', args })
  }
  if (facilitator === undefined) throw new RangeError('a permit of upto names who submits it')
  return encodeFunctionData({
    abi: abis.upto,
    args: [permit, amountMicro, from, { to, facilitator, validAfter }, signature],
  })
}

const gasLimit = 250_000n
const gasForApproval = 80_000n
/** A contract payer decides what it burns. */
const gasLimitContract = 500_000n
const plainSignatureLength = 2 + 65 * 2

type Deps = { rpc: Rpc; wallets: SettlementWallets }

/** Sends a permit by itself, and one of `upto` from the wallet that it names: the proxy takes it from nobody else. */
export async function settlePermit2(
  { rpc, wallets }: Deps,
  payment: Permit2Payment,
  signal: AbortSignal,
): Promise<SettleOutcome> {
  const { transfer, signature } = payment.permit2
  const refuse = (reason: string, message: string, payloadSent = false, gasGwei = 0n): SettleOutcome => ({
    ...{ status: 'refused', reason, message: message.slice(0, 200), payloadSent, gasGwei },
  })
  const named = transfer.facilitator
  if (named !== undefined && !wallets.addresses.includes(named))
    return refuse('upto_facilitator_mismatch', 'The permit names a wallet that is not of this facilitator.')
  if (signal.aborted) return refuse('settlement_aborted', 'Nobody waited any more; nothing was sent.')
  const to = permit2Proxies[payment.scheme]
  const data = permit2Call(payment)
  const carried = signature.length === plainSignatureLength ? gasLimit : gasLimitContract
  const gas = payment.scheme === 'exact' && payment.permit2.tokenPermit ? carried + gasForApproval : carried
  try {
    const from = named ?? (wallets.addresses[0] as Address)
    const played = await rpc.agreed('eth_call', [{ from, to, data, gas: `0x${gas.toString(16)}` }, 'latest'])
    if (played === undefined) throw new ChainUnreadable('the endpoints do not agree on the simulation')
  } catch (error) {
    if (!(error instanceof ChainUnreadable)) throw error
    return isRevert(error)
      ? refuse('invalid_permit2_simulation_failed', `The transfer would fail: ${error.message}`)
      : refuse('facilitator_unavailable', error.message)
  }
  const sent = await wallets.send({
    ...{ to, data, gasLimit: gas, purpose: 'settle', references: [payment.paymentId] },
    ...(named === undefined ? {} : { from: named }),
    usefulUntil: Number(transfer.deadline),
    stillWanted: () => !signal.aborted,
  })
  if (sent.status === 'not_sent') return refuse('facilitator_unavailable', sent.message ?? sent.reason)
  const outcome = await sent.outcome
  if (outcome.status === 'stopped')
    return { status: 'unknown', reason: 'settlement_pending', transaction: sent.transaction }
  if (outcome.status === 'replaced')
    return refuse('invalid_transaction_state', 'The transaction was cancelled before it took effect.', true)
  const gasGwei = (outcome.costWei + 999_999_999n) / 1_000_000_000n
  const transaction = outcome.receipt.transactionHash
  if (outcome.receipt.status === '0x1') return { status: 'submitted', transaction, feeMicro: 0n, gasGwei }
  return refuse('invalid_transaction_state', 'The transfer was included in a block and failed.', true, gasGwei)
}
