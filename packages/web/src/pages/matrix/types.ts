import type { MatrixAnswer } from '@assay/sdk'
import type { Bought } from '../../wallet/order.ts'

export type Column = { name: string; unit: string; meaning: string; tier: string }
export type Pulled = { answer: MatrixAnswer; bought: Bought }
