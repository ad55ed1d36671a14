import { useParams } from "react-router";
import { t } from "../../lib/strings";
import { Tab } from "../../ui/bits";
import { MemorySection } from "../memory/MemorySection";
import { About } from "./About";
import { ApiKeys } from "./ApiKeys";
import { Profile } from "./Profile";
import { Team } from "./Team";

export default function SettingsRoom() {
  const { section = "profile" } = useParams();
  return (
    <div className="room" data-detail="true">
      <section className="pane" aria-label={t.settings.title}>
        <title>{`${t.settings.title} – ${t.app.name}`}</title>
        <div className="pane-head">
          <h1 className="sr-only">{t.settings.title}</h1>
          <nav className="tabs grow" aria-label={t.settings.sections}>
            <Tab to="/settings/profile">{t.settings.profile}</Tab>
            <Tab to="/settings/keys">{t.settings.keys}</Tab>
            <Tab to="/settings/memory">{t.settings.memory}</Tab>
            <Tab to="/settings/team">{t.settings.team}</Tab>
            <Tab to="/settings/about">{t.settings.about}</Tab>
          </nav>
        </div>
        <div className="pane-body">
          <div className="pane-inner settings">
            {section === "keys" ? (
              <ApiKeys />
            ) : section === "memory" ? (
              <MemorySection />
            ) : section === "team" ? (
              <Team />
            ) : section === "about" ? (
              <About />
            ) : (
              <Profile />
            )}
          </div>
        </div>
      </section>
    </div>
  );
}
