import { addressPattern } from '@assay/protocol/address'
import { z } from 'zod'

/** An address on the wire, in any case. */
export const addressText = z.string().regex(addressPattern, 'must be an address, 0x and 40 hex digits')
/** Of a path that names a wallet. */
export const walletParams = z.strictObject({ wallet: addressText })
