import { type Address, zeroAddress } from '@assay/protocol/address'
import { type Hex, isHex } from '@assay/protocol/bytes'
import {
  isSignedByPredecessor,
  isSignedByWallet,
  type KeyStatement,
  type KeyStatementTypedData,
  keyStatementDigest,
} from '@assay/protocol/keys/key-statement'

/** The operator's wallet: a viem account, a hardware wallet, or a person who pastes a signature. */
export type StatementWallet = { address: Address; signTypedData(data: KeyStatementTypedData): Promise<Hex> }

/** Checks the signature of an operator's contract wallet (ERC-1271), which needs access to the chain. */
export type StatementChecker = (input: { address: Address; digest: Hex; signature: Hex }) => Promise<boolean>

export type VerifyKeyStatementOptions = {
  node: string
  operator: Address
  /** x of the predecessor's key, when the statement names one. */
  publicKeyOf(keyId: string): string | undefined
  checkContract?: StatementChecker
}

/** True when the operator's wallet, and the old key where named, signed the statement for this node. */
export async function verifyKeyStatement(
  statement: KeyStatement,
  options: VerifyKeyStatementOptions,
): Promise<boolean> {
  const { message, chainId, walletSignature: signature } = statement
  const operator = options.operator.toLowerCase() as Address
  if (message.node !== options.node || message.operator !== operator || operator === zeroAddress) return false
  const { predecessor } = message
  if (predecessor !== '' && !(await isSignedByPredecessor(statement, options.publicKeyOf(predecessor)))) return false
  if (await isSignedByWallet(statement)) return true
  if (!isHex(signature) || !options.checkContract) return false
  return options.checkContract({ address: operator, digest: keyStatementDigest(message, chainId), signature })
}
