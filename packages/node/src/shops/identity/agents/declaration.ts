import { z } from 'zod'

export const capabilityPattern = /^[a-z0-9]+(?:[._-][a-z0-9]+)*$/
export const capabilityId = z
  .string()
  .max(64)
  .regex(capabilityPattern, 'must be lower-case words joined by . _ or -, such as citation.search')

const text = (max: number) =>
  z
    .string()
    .trim()
    .min(1)
    .max(max)
    .regex(/^[^\p{C}]*$/u, 'must be one line of plain text')
const webUrl = z
  .string()
  .max(2_048)
  .refine(
    (value) => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol) && new URL(value).username === '',
    {
      message: 'must be an http or https URL',
    },
  )

export const serviceTypes = ['x402', 'agent_card', 'mcp', 'a2a', 'web'] as const
export type ServiceType = (typeof serviceTypes)[number]

export const capability = z.strictObject({
  id: capabilityId,
  name: text(120).optional(),
  description: text(500).optional(),
  tags: z.array(text(32)).max(8).optional(),
  url: webUrl.optional().describe('Where it can be had.'),
  price_usd: z
    .string()
    .regex(/^(?:0|[1-9]\d{0,8})(?:\.\d{1,6})?$/, 'must be decimal USD')
    .optional(),
})

export const declarationShape = {
  name: text(120).optional(),
  description: text(500).optional(),
  capabilities: z.array(capability).max(64),
  services: z
    .array(z.strictObject({ type: z.enum(serviceTypes), url: webUrl }))
    .max(serviceTypes.length)
    .optional(),
  erc8004: z
    .strictObject({
      network: z.string().regex(/^eip155:[1-9]\d{0,14}$/, 'must be a CAIP-2 network'),
      agent_id: z.string().regex(/^(?:0|[1-9]\d{0,77})$/, 'must be a token id'),
    })
    .optional()
    .describe('A registration on chain; refused unless the registry names this wallet.'),
}

const declaration = z.strictObject(declarationShape)

/** What an agent says of itself. An empty list revokes what it said before. */
export type Declaration = z.infer<typeof declaration>

export const noDeclaration: Declaration = { capabilities: [] }

type Listed = { capabilities: readonly { id: string }[]; services?: readonly { type: string }[] | undefined }

const areDistinct = (names: readonly string[]) => new Set(names).size === names.length

/** Two entries of one name would leave open which of them is meant. */
export function oneOfEach<T extends z.ZodType<Listed>>(schema: T): T {
  return schema
    .refine(({ capabilities }) => areDistinct(capabilities.map((one) => one.id)), {
      message: 'names a capability twice',
      path: ['capabilities'],
    })
    .refine(({ services = [] }) => areDistinct(services.map((one) => one.type)), {
      message: 'names a type twice',
      path: ['services'],
    })
}
