// The set-up that files of tests share: one browser a file, a daemon of made-up data a test, and no page that ends
// with troubles.
import assert from 'node:assert/strict';
import { after, before, beforeEach } from 'node:test';
import { launch, open } from './browser.mjs';
import { Fixture } from './server.mjs';

// `data` names what the daemon holds. The stage has `browser`, `fixture`, `seats` (what visit opened) and, as `seat`,
// the last of them.
export function stage(data = 'all') {
  const on = {
    async visit(path, options) {
      on.seat = await open(on.browser, on.fixture.url + path, options);
      on.seats.push(on.seat);
      return on.seat.page;
    },
  };
  before(async () => {
    on.browser = await launch();
  });
  after(async () => {
    await on.browser?.close();
  });
  beforeEach(async (t) => {
    on.fixture = await new Fixture(data).start();
    on.seats = [];
    t.after(async () => {
      for (const seat of on.seats) await seat.context.close();
      await on.fixture.stop();
      assert.deepEqual(
        on.seats.flatMap((seat) => seat.troubles),
        [],
      );
    });
  });
  return on;
}
