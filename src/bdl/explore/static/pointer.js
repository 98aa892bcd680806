// What a press on the plot does beyond moving through it: select, drag, add.
import { gestures } from "/gestures.js";

const NEAR = 7, FINGER = 18;

export const pointer = (app) => {
  const { plot } = app, { box } = plot;
  const nearest = (x, event) => {
    let found = null, distance = event.pointerType === "touch" ? FINGER : NEAR;
    const [first, end] = plot.visible(app.events?.labels ?? [], 1);
    for (let i = first; i < end; i++) {
      const away = Math.abs(plot.x(app.events.labels[i].time) - x);
      if (away <= distance) { distance = away; found = app.events.labels[i]; }
    }
    return found;
  };
  // The ends of the interval whose band in the rail of labels holds a place.
  const band = (time) => {
    for (const { onset } of app.intervals) {
      const begin = app.events.labels.findLast((label) => label.event === onset && label.time <= time);
      const end = begin && app.labels.partner(begin);
      if (end && end.time >= time) return [begin, end];
    }
    return null;
  };

  // Labels follow the pointer; they are moved when it lets go and the edit is on disk.
  const drag = (labels) => {
    const moving = labels.map((item) => ({ item, time: item.time }));
    app.select(labels.map(({ id }) => id));
    return {
      move: (_, seconds) => {
        for (const { item, time } of moving) item.time = app.snapped(time + seconds);
        app.version++;
        app.say(app.clock.full(moving[0].item.time));
        plot.redraw();
      },
      end: async (_, done) => {
        const pairs = moving.map(({ item, time }) => [{ ...item, time }, { time: item.time }]);
        for (const { item, time } of moving) item.time = time;
        app.version++;
        if (done && await app.labels.edit(pairs)) app.say(`moved: ${app.named(app.chosen())}`);
        plot.redraw();
      },
    };
  };
  const interval = (start) => ({
    move: (x) => app.focusOn([start, plot.time(x)]),
    end: async (x, done) => {
      app.focusOn(null);
      if (done) await app.addInterval(Math.min(start, plot.time(x)), Math.max(start, plot.time(x)));
    },
  });
  const grab = (x, y, event) => {
    const label = nearest(x, event), whole = !label && y < 20 && app.events ? band(plot.time(x)) : null;
    if (label || whole) return drag(whole ?? (app.selected.has(label.id) ? app.chosen() : [label]));
    return event.shiftKey ? interval(plot.time(x)) : null;
  };
  gestures(app, { grab, tap: (x) => { app.select([]); app.setCursor(plot.time(x)); } });
  box.addEventListener("dblclick", (event) => { const x = event.clientX - box.getBoundingClientRect().left; if (!nearest(x, event)) app.add(plot.time(x)); });
};
