import { handler } from '../../seller.ts'

export const dynamic = 'force-dynamic'
export const runtime = 'nodejs'
export const GET = handler('documents')
