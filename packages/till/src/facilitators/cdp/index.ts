import { withBreaker } from '../breaker.ts'
import type { FacilitatorKind } from '../facilitator-kind.ts'
import { createCdpFacilitator } from './cdp-facilitator.ts'

export const cdp: FacilitatorKind = {
  name: 'cdp',
  chosenBy: 'cdp',
  takes: (choice) => choice === 'cdp',
  readSettings: (_choice, env, problems) => {
    const read = (name: string) => {
      const value = env[name]
      if (typeof value === 'string' && value !== '') return value
      problems.push(`${name}: missing, needed by FACILITATOR=cdp`)
      return ''
    }
    return { apiKeyId: read('CDP_API_KEY_ID'), apiKeySecret: read('CDP_API_KEY_SECRET') }
  },
  open: async ({ apiKeyId = '', apiKeySecret = '' }, ports) =>
    withBreaker(createCdpFacilitator({ apiKeyId, apiKeySecret, ...ports }), ports),
}
