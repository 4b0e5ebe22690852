// The further charts, and charts as files: what most visits do without is one part. With one for each, what they share
// with the first page would be cut into a dozen files.
export { figure, toPng } from '../figure';
export { ScatterTab } from './Explore';
export { PairsTab, SlicesTab } from './Slices';
export { TimelineTab } from './Timeline';
