import * as curve from 'tiny-secp256k1'
import { type Hex, toHex } from '../../packages/protocol/src/bytes.ts'
import { fromHex } from '../../packages/till/src/kernel/bytes.ts'
import { personalMessageDigest } from '../../packages/till/src/proofs/index.ts'
import { benchPayer } from './sign-payments.ts'

/** Signs messages as a wallet does, only with a faster curve. */
export function fastAccount(index: number) {
  const { address, secret } = benchPayer(index)
  return {
    address,
    signMessage: async ({ message }: { message: unknown }): Promise<Hex> => {
      const { signature, recoveryId } = curve.signRecoverable(
        personalMessageDigest(Buffer.from(String(message))),
        secret,
      )
      return toHex(Buffer.concat([signature, fromHex(recoveryId === 0 ? '0x1b' : '0x1c')]))
    },
  }
}
