import { withBreaker } from '../breaker.ts'
import { declareFacilitator, type FacilitatorOption } from '../facilitator-kind.ts'
import { createCdpFacilitator } from './cdp-facilitator.ts'

/** Coinbase's facilitator, with the id and secret of an API key. */
export const cdp = declareFacilitator({
  name: 'cdp',
  chosenBy: 'cdp',
  takes: (choice) => choice === 'cdp',
  option: 'cdp({ keyId, keySecret })',
  choose: ({
    keyId = '',
    keySecret = '',
  }: {
    keyId: string | undefined
    keySecret: string | undefined
  }): FacilitatorOption => ({ choice: { kind: 'cdp', settings: { apiKeyId: keyId, apiKeySecret: keySecret } } }),
  findProblems: ({ apiKeyId, apiKeySecret }) => [
    ...(apiKeyId ? [] : ['cdp({ keyId }) is missing']),
    ...(apiKeySecret ? [] : ['cdp({ keySecret }) is missing']),
  ],
  variables: {
    CDP_API_KEY_ID: { shown: 'none', description: 'Key id for `FACILITATOR=cdp`.', secret: true },
    CDP_API_KEY_SECRET: {
      shown: 'none',
      description: 'Key secret for `FACILITATOR=cdp`, Ed25519 (base64) or EC (PEM).',
      secret: true,
    },
  },
  readSettings: (_choice, env, problems) => {
    const read = (name: string) => {
      const value = env[name]
      if (value !== undefined && value !== '') return value
      problems.push(`${name}: missing, needed by FACILITATOR=cdp`)
      return ''
    }
    return { apiKeyId: read('CDP_API_KEY_ID'), apiKeySecret: read('CDP_API_KEY_SECRET') }
  },
  open: async ({ apiKeyId = '', apiKeySecret = '' }, ports) =>
    withBreaker(createCdpFacilitator({ apiKeyId, apiKeySecret, ...ports }), ports),
})
