import type { RetentionRule } from '@assay/till/store/retention'

export const notificationsRetention: readonly RetentionRule[] = [
  {
    tables: [
      'notification_event',
      'notification_delivery',
      'notification_endpoint',
      'notification_challenge',
      'notification_watch',
      'notification_plan',
      'notification_plan_sale',
    ],
    addedBy: 'anybody',
    kept: '[as listed](notifications.md): 90 days and 200,000 rows at most',
    deletedBy: '`notifications.expire`',
  },
]
