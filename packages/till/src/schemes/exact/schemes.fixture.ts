import { createSchemes } from '../create-schemes.ts'
import { createExactScheme } from './index.ts'

/** For what reads evidence only: no network is known, so nothing can be verified with it. */
export const schemes = createSchemes([createExactScheme([])])
