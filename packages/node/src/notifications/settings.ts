import { type Micro, parseUsd } from '@assay/protocol/money'
import { z } from 'zod'
import { parseMembers, SettingsError, type Variables } from '../shops/shop-settings.ts'

export const notificationsVariables = {
  NOTIFICATIONS: {
    kind: 'json',
    default: '{}',
    description:
      'JSON object: `free_watches` (3) a wallet, `plan_watches` (200) with a plan, `plan_price_usd` ("2") for 30 days, `mail_from`, the sender of mails; docs/notifications.md.',
    secret: false,
  },
  SMTP_URL: {
    kind: 'text',
    must: [/^smtps?:\/\/.+/, 'must be smtp:// or smtps://'],
    description:
      'SMTP server through which notifications are mailed, with user and password: `smtps://user:password@host:465`. Without it no e-mail is offered.',
    secret: true,
  },
} as const satisfies Variables

export type NotificationSettings = {
  freeWatches: number
  planWatches: number
  planPriceMicro: Micro
  mail: { url: string; from: string } | undefined
}

const schema = z.strictObject({
  free_watches: z.int().min(0).max(100).default(3),
  plan_watches: z.int().min(1).max(10_000).default(200),
  plan_price_usd: z
    .string()
    .refine((text) => (parseUsd(text) ?? 0n) > 0n, 'must be decimal USD above zero')
    .default('2'),
  mail_from: z.string().min(3).max(200).optional(),
})

export function parseNotificationSettings(given: unknown, smtpUrl: string | undefined): NotificationSettings {
  const { free_watches, plan_watches, plan_price_usd, mail_from } = parseMembers('NOTIFICATIONS', schema, given)
  if (smtpUrl !== undefined && mail_from === undefined)
    throw new SettingsError(['NOTIFICATIONS: mail_from is needed with SMTP_URL'])
  return {
    freeWatches: free_watches,
    planWatches: plan_watches,
    planPriceMicro: parseUsd(plan_price_usd) as Micro,
    mail: smtpUrl === undefined || mail_from === undefined ? undefined : { url: smtpUrl, from: mail_from },
  }
}
